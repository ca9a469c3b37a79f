"""What a study is: lists of series, pages and questions, recruitment; read, checked, assigned."""
