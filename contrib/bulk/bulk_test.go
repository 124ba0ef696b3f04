package bulk

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/socialdata/socialdata/bulkjob"
	"github.com/socialdata/socialdata/bulkjob/bulktest"
	"github.com/socialdata/socialdata/contrib/postgres"
	"github.com/socialdata/socialdata/store/sqlite"
)

// testConfig has short intervals.
func testConfig(t *testing.T, limits bulktest.Limits) Config {
	t.Helper()
	return Config{
		RetryFor: limits.RetryFor, Keep: limits.Keep, ResultBytes: limits.ResultBytes, Jobs: limits.Jobs, Lines: limits.Lines,
		wait: limits.Wait, tick: 20 * time.Millisecond, Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
}

func openFile(t *testing.T) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "test.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// dsnVariable names the variable with the DSN of the tests' database.
const dsnVariable = "SOCIALDATA_TEST_POSTGRES"

// newSchema returns a configuration with a schema for the test only.
func newSchema(t *testing.T) postgres.Config {
	t.Helper()
	dsn := os.Getenv(dsnVariable)
	if dsn == "" {
		t.Skipf("%s is not set: give it the DSN of a PostgreSQL database, such as postgres://root@127.0.0.1/test",
			dsnVariable)
	}
	schema := "socialdata_test_" + strings.ToLower(rand.Text())
	t.Cleanup(func() {
		ctx := context.Background()
		c, err := pgx.Connect(ctx, dsn)
		if err != nil {
			t.Error(err)
			return
		}
		_, err = c.Exec(ctx, "DROP SCHEMA IF EXISTS "+schema+" CASCADE")
		if err = errors.Join(err, c.Close(ctx)); err != nil {
			t.Error(err)
		}
	})
	return postgres.Config{DSN: dsn, Schema: schema}
}

func openServer(t *testing.T) *postgres.DB {
	t.Helper()
	return openWith(t, newSchema(t))
}

func openWith(t *testing.T, cfg postgres.Config) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// services opens n of them until the test ends.
func services(t *testing.T, n int, open func() (*Service, error)) (all []*Service) {
	t.Helper()
	for range n {
		s, err := open()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		all = append(all, s)
	}
	return all
}

// databases are those that a test runs on.
var databases = map[string]func(t *testing.T, cfg Config, n int) []*Service{
	"sqlite": func(t *testing.T, cfg Config, n int) []*Service {
		t.Helper()
		db := openFile(t)
		return services(t, n, func() (*Service, error) { return OpenSQLite(t.Context(), db, cfg) })
	},
	"postgres": func(t *testing.T, cfg Config, n int) []*Service {
		t.Helper()
		db := openServer(t)
		return services(t, n, func() (*Service, error) { return OpenPostgres(t.Context(), db, cfg) })
	},
}

func TestService(t *testing.T) {
	t.Parallel()
	for name, open := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bulktest.Run(t, func(t *testing.T, limits bulktest.Limits, n int) (all []bulkjob.Service) {
				t.Helper()
				for _, s := range open(t, testConfig(t, limits), n) {
					all = append(all, s)
				}
				return all
			})
		})
	}
}
