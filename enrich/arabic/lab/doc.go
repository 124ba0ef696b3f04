// Package lab is the laboratory of the embedded Arabic model: its commands train the model and measure it. It is a module
// of its own, so that a program that uses the model gets neither its data nor its dependencies.
//
//	go run ./enrich/arabic/lab/cmd/train      # writes enrich/arabic/model.bin
//	go run ./enrich/arabic/lab/cmd/evaluate   # measures a model
//
// MODEL.md, beside the model, describes the method and its figures.
package lab
