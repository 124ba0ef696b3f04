module github.com/socialdata/socialdata/contrib

go 1.26
