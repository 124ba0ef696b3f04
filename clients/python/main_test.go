package main

import (
	"bytes"
	"os"
	"testing"
)

func TestTheClientIsGenerated(t *testing.T) {
	t.Parallel()
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if got, err := os.ReadFile(folder + name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s%s is not what the descriptions say (%v): run go generate ./clients/python", folder, name, err)
		}
	}
}
