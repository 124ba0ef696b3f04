package server_test

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/server"
)

// The handler mounts under any prefix of another mux.
func Example() {
	client, err := socialdata.New(socialdata.WithProviders(mock.New(mock.Config{})))
	if err != nil {
		log.Fatal(err)
	}
	srv, err := server.New(client)
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/data/", http.StripPrefix("/data", srv.Handler()))

	for _, path := range []string{"/data/health", "/data/v1/mock/profile?handle=salma_haddad"} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		fmt.Println(w.Code, w.Header().Get("Content-Type"), strings.Contains(w.Body.String(), `"mock":"unknown"`))
	}
	// Output:
	// 200 application/json true
	// 401 application/problem+json false
}
