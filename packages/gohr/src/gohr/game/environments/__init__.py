"""The game as environments of Gymnasium: one board, many boards, wrappers, registration."""
