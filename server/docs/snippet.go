package docs

import (
	"embed"
	"reflect"
	"strings"
	"text/template"

	"github.com/socialdata/socialdata/schema"
)

// languages are the languages of the snippets. It is read-only.
var languages = []struct{ file, name string }{
	{"curl", "curl"}, {"go", "Go"}, {"js", "JavaScript"}, {"py", "Python"},
}

//go:embed snippets
var snippets embed.FS

// call is the data of the snippet templates.
type call struct {
	Target string
	Data   string // the Go type of the data, or of the whole answer if Bare
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

// goType returns t as a program outside of package schema writes it.
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
