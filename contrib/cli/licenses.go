package cli

import (
	_ "embed"
	"io"
)

// notices is written by .ci/notices.
//
//go:embed THIRD_PARTY_NOTICES
var notices string

type licensesCmd struct{}

// Run prints the licences of the modules in the program, and that of Go.
func (licensesCmd) Run(e *env) error {
	_, err := io.WriteString(e.out, notices)
	return err
}
