"""The parts of a method by the names under which a user asks for them."""
