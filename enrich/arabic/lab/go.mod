module github.com/socialdata/socialdata/enrich/arabic/lab

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0
	github.com/socialdata/socialdata v0.0.0
)

require github.com/go-json-experiment/json v1.27.2 // indirect

replace github.com/socialdata/socialdata => ../../../
