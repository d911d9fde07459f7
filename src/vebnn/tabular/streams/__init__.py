"""Files of rows block by block: predictions and fits of tables that memory cannot hold."""
