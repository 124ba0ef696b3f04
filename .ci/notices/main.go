// Command notices writes the licences of all that is linked into the shipped program beside socialdata itself: the
// modules, on any system that it is built for, and Go. It takes them from the module cache. Run in the root of the
// repository:
//
//	go run ./.ci/notices >contrib/cli/THIRD_PARTY_NOTICES
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const program = "./examples/standalone"

var (
	systems   = []string{"linux", "darwin", "windows"}
	isLicence = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|copyright|patents)([-._].*)?$`)
	notText   = regexp.MustCompile(`(?i)\.(go|json|ya?ml|tmpl)$`)
)

// module is a module and the folders of those of its packages that are linked.
type module struct {
	Path, Version, Dir string
	packages           map[string]bool
}

func main() {
	if err := write(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

func write(w io.Writer) error {
	linked := map[string]*module{}
	for _, system := range systems {
		if err := list(linked, system); err != nil {
			return err
		}
	}
	goRoot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	all := []*module{{Path: "Go and its standard library", Dir: strings.TrimSpace(string(goRoot))}}
	all = append(all, slices.SortedFunc(maps.Values(linked), func(a, b *module) int { return cmp.Compare(a.Path, b.Path) })...)
	holders, texts := map[string][]string{}, []string{}
	for _, m := range all {
		found, err := m.licences()
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return fmt.Errorf("%s has no licence in %s", m.Path, m.Dir)
		}
		for _, text := range found {
			if holders[text] == nil {
				texts = append(texts, text)
			}
			holders[text] = append(holders[text], strings.TrimSpace(m.Path+" "+m.Version))
		}
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "The program of socialdata contains Go and %d modules of others, under these licences.\n", len(all)-1)
	for _, text := range texts {
		fmt.Fprintf(&out, "\n%s\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(holders[text], "\n"), strings.Repeat("-", 80), text)
	}
	_, err = w.Write(out.Bytes())
	return err
}

// list adds the modules that are linked on a system.
func list(linked map[string]*module, system string) error {
	cmd := exec.Command("go", "list", "-deps", "-json=Dir,Module", program)
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	b, err := cmd.Output()
	if err != nil {
		return err
	}
	for d := json.NewDecoder(bytes.NewReader(b)); ; {
		var p struct {
			Dir    string
			Module *struct {
				Path, Version, Dir string
				Main               bool
			}
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if p.Module == nil || p.Module.Main {
			continue
		}
		m := linked[p.Module.Path]
		if m == nil {
			m = &module{p.Module.Path, p.Module.Version, p.Module.Dir, map[string]bool{}}
			linked[m.Path] = m
		}
		m.packages[p.Dir] = true
	}
}

// licences returns the texts in the folder of the module and in those between it and the packages that are linked.
func (m *module) licences() ([]string, error) {
	folders := map[string]bool{m.Dir: true}
	for dir := range m.packages {
		for ; strings.HasPrefix(dir, m.Dir+string(filepath.Separator)); dir = filepath.Dir(dir) {
			folders[dir] = true
		}
	}
	var texts []string
	for _, dir := range slices.Sorted(maps.Keys(folders)) {
		files, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, err
		}
		for _, f := range files {
			if f.IsDir() || !isLicence.MatchString(f.Name()) || notText.MatchString(f.Name()) {
				continue
			}
			b, err := os.ReadFile(filepath.Join(dir, f.Name()))
			if err != nil {
				return nil, err
			}
			text := strings.TrimSpace(strings.ReplaceAll(string(b), "\r\n", "\n"))
			if text != "" && !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
	}
	return texts, nil
}
