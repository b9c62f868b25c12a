"""Second opinions on the classics: each is written again as plain tuples, and shares no line with them."""
