package engine_test

import (
	"strings"
	"testing"

	"github.com/socialdata/socialdata/internal/engine"
	"github.com/socialdata/socialdata/internal/read"
	"github.com/socialdata/socialdata/operation"
)

func TestARowWithoutAHandlerIsRefused(t *testing.T) {
	t.Parallel()
	row := operation.Operation{Name: "dance", Service: true}
	_, err := engine.New(engine.Config{Rows: []*read.Row{{Operation: &row}}})
	if err == nil || !strings.Contains(err.Error(), `"dance"`) {
		t.Errorf("%v, want the row to be named", err)
	}
}
