"""Mixed load for as long as one likes: does anything grow?"""
