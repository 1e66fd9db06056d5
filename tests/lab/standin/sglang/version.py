__version__ = "0.5.16.post1+k3"
