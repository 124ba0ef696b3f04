// Package weights reads and writes the model file: named sections of quantised weights and tables.
//
// The file is read in place. A section is a substring of the embedded file and nothing of it is copied.
package weights

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

const magic = "SDARABIC1\n"

// ErrFormat means that a file is not a model of this version.
var ErrFormat = errors.New("weights: not a model file of this version")

// File is a model file that is being written. Sections keep their order.
type File struct {
	names []string
	data  [][]byte
}

// Add appends a section.
func (f *File) Add(name string, data []byte) {
	f.names, f.data = append(f.names, name), append(f.data, data)
}

// Bytes returns the file.
func (f *File) Bytes() []byte {
	out := append([]byte(magic), byte(len(f.names)))
	for i, n := range f.names {
		out = append(out, byte(len(n)))
		out = append(out, n...)
		out = binary.LittleEndian.AppendUint32(out, uint32(len(f.data[i])))
	}
	for _, d := range f.data {
		out = append(out, d...)
	}
	return out
}

// Sections are the sections of a model file by name.
type Sections map[string]string

// Open reads the directory of a model file.
func Open(file string) (Sections, error) {
	rest, ok := strings.CutPrefix(file, magic)
	if !ok || rest == "" {
		return nil, ErrFormat
	}
	n := int(rest[0])
	rest = rest[1:]
	names, sizes := make([]string, n), make([]int, n)
	for i := range n {
		if rest == "" || len(rest) < 1+int(rest[0])+4 {
			return nil, ErrFormat
		}
		end := 1 + int(rest[0])
		names[i] = rest[1:end]
		sizes[i] = int(uint32At(rest, end))
		rest = rest[end+4:]
	}
	s := Sections{}
	for i, name := range names {
		if len(rest) < sizes[i] {
			return nil, ErrFormat
		}
		s[name], rest = rest[:sizes[i]], rest[sizes[i]:]
	}
	return s, nil
}

// Section returns the section called name, or an error that contains the name.
func (s Sections) Section(name string) (string, error) {
	data, ok := s[name]
	if !ok {
		return "", fmt.Errorf("%w: no section %q", ErrFormat, name)
	}
	return data, nil
}

func uint32At(s string, i int) uint32 {
	return uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16 | uint32(s[i+3])<<24
}
