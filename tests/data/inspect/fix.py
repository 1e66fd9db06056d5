print("a sample artifact")
