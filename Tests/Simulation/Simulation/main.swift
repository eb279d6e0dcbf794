print("nothing to simulate yet")
