// Command train rebuilds the embedded model from the labelled data, byte for byte.
//
//	go run ./enrich/arabic/lab/cmd/train -data ../shared/arabic
//
// With -without sharealike it makes another model, from the data that are not under CC-BY-SA.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/socialdata/socialdata/enrich/arabic"
	"github.com/socialdata/socialdata/enrich/arabic/internal/weights"
	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/corpus"
	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/train"
)

func main() {
	if err := run(os.Args[1:], os.Stderr); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

// run trains with the arguments of the command line and reports to w.
func run(args []string, w io.Writer) error {
	flags := flag.NewFlagSet("train", flag.ContinueOnError)
	data := flags.String("data", "../shared/arabic", "folder of the labelled data")
	out := flags.String("out", "enrich/arabic/model.bin", "model file to write")
	seed := flags.Uint64("seed", 1, "seed of the order of the examples; the embedded model has 1")
	without := flags.String("without", "", "sharealike leaves out the data under CC-BY-SA: see NOTICE")
	parts := flags.String("parts", "", "parts to train, with commas between them; the others are those of the embedded model")
	if err := flags.Parse(args); err != nil {
		return err
	}
	start := time.Now()
	c, err := corpus.Load(*data)
	if err != nil {
		return err
	}
	cfg := train.Config{Seed: *seed, Progress: w}
	switch *without {
	case "":
	case "sharealike":
		c, cfg.WithoutShareAlike = c.WithoutShareAlike(), true
	default:
		return fmt.Errorf("-without %q: only sharealike can be left out", *without)
	}
	if *parts != "" {
		cfg.Parts = strings.Split(*parts, ",")
		if cfg.Rest, err = weights.Open(arabic.Embedded()); err != nil {
			return err
		}
	}
	model := train.Build(c, cfg)
	if err := os.WriteFile(*out, model, 0o644); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s: %d bytes in %s\n", *out, len(model), time.Since(start).Round(time.Second))
	return err
}
