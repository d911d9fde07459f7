"""The page that sets every table and figure of the paper beside what was run here."""
