// Package lab holds the commands that train and measure the embedded Arabic model. It is a module of its own, so that a
// program that uses the model does not get its data and dependencies.
//
//	go run ./enrich/arabic/lab/cmd/train      # writes enrich/arabic/model.bin
//	go run ./enrich/arabic/lab/cmd/evaluate   # measures a model
//
// MODEL.md, beside the model, describes the method and its figures.
package lab
