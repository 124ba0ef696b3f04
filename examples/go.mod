module github.com/socialdata/socialdata/examples

go 1.26
