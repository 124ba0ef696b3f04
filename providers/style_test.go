package providers_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestErrorsAreLookedAtWhereTheyArise parses every provider and fails on conditions that carry an error along, such as
//
//	if err == nil {
//		page.Next, err = next(answer)
//	}
//
// An error is returned where it arises, as in "if err != nil { return …, err }". The condition is allowed where the
// error is that of an optional value, which the same statement makes ("if u, err := url.Parse(s); err == nil"), and
// where it is an argument of the function.
func TestErrorsAreLookedAtWhereTheyArise(t *testing.T) {
	t.Parallel()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "providertest": // the suite expects errors
			return filepath.SkipDir
		case d.IsDir(), filepath.Ext(path) != ".go", strings.HasSuffix(path, "_test.go"):
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, at := range carried(file) {
			t.Errorf("%s: return the error where it arises: if err != nil { return …, err }", files.Position(at))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestCarriedErrorsAreFound(t *testing.T) {
	t.Parallel()
	const head, tail = "package a\nfunc f(given error) error {\n\terr := g()\n\t", "\n\treturn err\n}\n"
	for body, want := range map[string]int{
		"if err == nil { err = g() }":                               1,
		"if ok && nil == err { err = g() }":                         1,
		"switch { case err == nil: err = g() }":                     1,
		"if err = g(); err == nil { err = g() }":                    1,
		"func() { if err == nil { err = g() } }()":                  1,
		"if _, err := h(); err == nil && ok { err = g() }":          0,
		"if given == nil { return nil }":                            0,
		"if err != nil { return err }":                              0,
		"ok := err == nil; use(ok)":                                 0,
		"if node == nil { return nil }":                             0,
		"if _, err := h(); ok { if err == nil { return g() } }":     1,
		"if err != nil { return err }; if err == nil { err = g() }": 1,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "a.go", head+body+tail, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(carried(file)); got != want {
			t.Errorf("%s: %d findings, want %d", body, got, want)
		}
	}
}

// carried returns the positions of conditions of if and switch that compare an error with nil for equality, and may not.
func carried(file *ast.File) (found []token.Pos) {
	arguments := map[string]bool{}
	check := func(condition ast.Expr, own map[string]bool) {
		ast.Inspect(condition, func(n ast.Node) bool {
			if is, ok := n.(*ast.BinaryExpr); ok && is.Op == token.EQL {
				name := errorOf(is.X, is.Y) + errorOf(is.Y, is.X)
				if name != "" && !own[name] && !arguments[name] {
					found = append(found, is.Pos())
				}
			}
			return true
		})
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			arguments = map[string]bool{}
			for _, field := range n.Type.Params.List {
				for _, name := range field.Names {
					arguments[name.Name] = true
				}
			}
		case *ast.IfStmt:
			own := map[string]bool{}
			if made, ok := n.Init.(*ast.AssignStmt); ok && made.Tok == token.DEFINE {
				for _, left := range made.Lhs {
					if name, ok := left.(*ast.Ident); ok {
						own[name.Name] = true
					}
				}
			}
			check(n.Cond, own)
		case *ast.CaseClause:
			for _, condition := range n.List {
				check(condition, nil)
			}
		}
		return true
	})
	return found
}

// errorOf returns the name of a variable that is compared with nil and holds an error by its name; "" for others.
func errorOf(variable, with ast.Expr) string {
	name, ok := variable.(*ast.Ident)
	if null, isName := with.(*ast.Ident); !ok || !isName || null.Name != "nil" {
		return ""
	}
	if lower := strings.ToLower(name.Name); strings.HasSuffix(lower, "err") || lower == "failed" || lower == "given" {
		return name.Name
	}
	return ""
}
