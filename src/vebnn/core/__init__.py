"""What every room stands on: types, sentences for wrong arguments, devices, random numbers, workers."""
