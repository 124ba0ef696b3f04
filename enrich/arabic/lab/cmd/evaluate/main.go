// Command evaluate measures the enrichment of Arabic.
//
// With -file it measures the embedded model on a file of the same columns as the labelled data:
//
//	go run ./enrich/arabic/lab/cmd/evaluate -task sentiment -file posts.tsv
//
// and with -everyday or -negation on a file of everyday posts or of sentences and their negations, where -wrong lists
// the wrong answers:
//
//	go run ./enrich/arabic/lab/cmd/evaluate -everyday enrich/arabic/lab/testdata/everyday_choose.txt -wrong
//	go run ./enrich/arabic/lab/cmd/evaluate -negation enrich/arabic/lab/testdata/negation_choose.txt -wrong
//
// With -model it measures another model file than the embedded one. Without any of these, it trains on nine tenths of
// the labelled data and measures the other tenth, or on all but one collection and measures that one. These commands
// produce the tables in MODEL.md:
//
//	go run ./enrich/arabic/lab/cmd/evaluate -data ../shared/arabic -fold 0
//	go run ./enrich/arabic/lab/cmd/evaluate -data ../shared/arabic -leave qcri
//	go run ./enrich/arabic/lab/cmd/evaluate -data ../shared/arabic -leave batch-09,pairs-09
//
// With -task it trains and measures only that part, which takes less time.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/enrich/arabic"
	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/corpus"
	"github.com/socialdata/socialdata/enrich/arabic/lab/internal/eval"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "evaluate:", err)
		os.Exit(1)
	}
}

// run measures according to the arguments, writes the tables to w and the progress of training to progress.
func run(args []string, w, progress io.Writer) error {
	flags := flag.NewFlagSet("evaluate", flag.ContinueOnError)
	task := flags.String("task", "", "dialect, sentiment, ner, topic or not_arabic; without -file, none means all")
	file := flags.String("file", "", "labelled file to measure the embedded model on")
	data := flags.String("data", "../shared/arabic", "folder of the labelled data")
	everyday := flags.String("everyday", "", "file of everyday posts to measure on")
	negation := flags.String("negation", "", "file of sentences and their negations to measure on")
	wrong := flags.Bool("wrong", false, "list what comes out wrong of -everyday and -negation, and of written texts that are left out")
	model := flags.String("model", "", "model file to measure instead of the embedded one")
	var h eval.HeldOut
	folds := flags.String("fold", "0", "tenths of the data to hold out, with commas between them")
	leave := flags.String("leave", "", "collections to hold out instead, with commas between them, for example qcri or batch-02,pairs-09")
	flags.Uint64Var(&h.Seed, "seed", 1, "seed of training and of cutting texts")
	flags.BoolVar(&h.Brief, "brief", false, "one line for each set of texts")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *file != "" || *everyday != "" || *negation != "" {
		m, err := open(*model)
		if err != nil {
			return err
		}
		if *file != "" {
			return measure(m, *task, *file, h.Seed, w)
		}
		return posts(m, *everyday, *negation, *wrong, w)
	}
	h.Task = *task
	if *leave != "" {
		h.Sets = strings.Split(*leave, ",")
	}
	if *wrong {
		h.Wrong = w
	}
	for f := range strings.SplitSeq(*folds, ",") {
		n, err := strconv.Atoi(f)
		if err != nil {
			return fmt.Errorf("-fold %q: %w", *folds, err)
		}
		h.Folds = append(h.Folds, n)
	}
	c, err := corpus.Load(*data)
	if err != nil {
		return err
	}
	return h.Run(c, w, progress)
}

// open returns the model in file, or the embedded one when file is empty.
func open(file string) (*arabic.Model, error) {
	if file == "" {
		return arabic.New(), nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return arabic.Open(string(data))
}

// posts measures m on a file of everyday posts and on one of negations, if they are given.
func posts(m *arabic.Model, everyday, negation string, list bool, w io.Writer) error {
	var wrong io.Writer
	if list {
		wrong = w
	}
	if everyday != "" {
		posts, err := corpus.ReadPosts(everyday)
		if err != nil {
			return err
		}
		if err := eval.MeasurePosts(m, posts, wrong).Write(w); err != nil {
			return err
		}
	}
	if negation == "" {
		return nil
	}
	pairs, err := corpus.ReadPairs(negation)
	if err != nil {
		return err
	}
	return eval.MeasurePairs(m, pairs, wrong).Write(w)
}

// measure runs m on one file.
func measure(m *arabic.Model, task, file string, seed uint64, w io.Writer) error {
	if task == "ner" {
		var sentences []corpus.Sentence
		err := corpus.Read(file, 2, func(f []string) {
			sentences = append(sentences, corpus.Sentence{Tokens: strings.Split(f[0], " "), Tags: strings.Split(f[1], " ")})
		})
		if err != nil {
			return err
		}
		r := eval.NER(m, task, sentences)
		if _, err := fmt.Fprintf(w, "strict span F1 %.4f\n", eval.SpanF1(r)); err != nil {
			return err
		}
		return r.Write(w)
	}
	records, err := read(task, file)
	if err != nil {
		return err
	}
	switch task {
	case "dialect":
		return eval.Dialect(m, task, records).Write(w)
	case "sentiment":
		return eval.Sentiment(m, task, records).Write(w)
	case "topic":
		return eval.Topic(m, task, records).Write(w)
	case "not_arabic":
		return eval.NotArabic(m, task, records, seed, 3, 6).Write(w)
	}
	return fmt.Errorf("no task %q", task)
}

// read reads the labels of a task. The text is the last column; the dialect is the first one, the language label the
// second one, and sentiment and topic come right before the text.
func read(task, file string) ([]corpus.Record, error) {
	var records []corpus.Record
	err := corpus.Read(file, 2, func(f []string) {
		label := f[0]
		switch {
		case task == "sentiment" || task == "topic":
			label = f[len(f)-2]
		case task == "not_arabic" && len(f) > 2:
			label = f[1]
		}
		records = append(records, corpus.Record{Set: "elhaj", Label: label, Text: f[len(f)-1]})
	})
	return records, err
}
