module modiar

go 1.23
