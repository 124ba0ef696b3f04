package docs

import (
	"embed"
	"reflect"
	"strings"
	"text/template"

	"github.com/socialdata/socialdata/schema"
)

// languages are those in which calls are shown. Nobody writes to it.
var languages = []struct{ file, name string }{
	{"curl", "curl"}, {"go", "Go"}, {"js", "JavaScript"}, {"py", "Python"},
}

//go:embed snippets
var snippets embed.FS

// call is what the snippet templates see.
type call struct {
	Target string
	Data   string // the Go type of the data; of the whole answer when Bare
	Bare   bool
}

// fill returns a snippet for c.
func fill(name string, c call) (string, error) {
	t, err := template.ParseFS(snippets, "snippets/"+name+".tmpl")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, c)
	return strings.TrimSpace(b.String()), err
}

// goType returns how a program outside the package schema writes t.
func goType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice:
		return "[]" + goType(t.Elem())
	case reflect.Interface:
		return "any"
	default:
		name, of, generic := strings.Cut(t.Name(), "[")
		if !generic {
			return "schema." + schema.TypeName(t)
		}
		of = strings.TrimSuffix(of, "]")
		return "schema." + name + "[schema." + of[strings.LastIndexByte(of, '.')+1:] + "]"
	}
}
