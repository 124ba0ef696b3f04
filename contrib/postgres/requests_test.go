package postgres

import (
	"testing"

	"github.com/socialdata/socialdata/requests"
	"github.com/socialdata/socialdata/requests/requeststest"
)

func TestRequests(t *testing.T) {
	t.Parallel()
	newSchema(t)
	requeststest.Run(t, func(t *testing.T) requests.Store {
		t.Helper()
		return openDB(t, newSchema(t)).Requests()
	})
}
