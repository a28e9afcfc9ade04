"""Makes a run of kernels that were written for PyTorch. Nothing of their sources is run."""
