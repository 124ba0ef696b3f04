package mcp

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"unicode"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/socialdata/socialdata/problem"
)

// errBatch refuses several messages in one request, because thousands of them would count as one.
var errBatch = problem.New(problem.InvalidRequest,
	"a request holds one message of JSON-RPC; send the messages one by one")

// refuseBatch fails when the body of r is a list of messages. The body can still be read from the beginning.
func refuseBatch(r *http.Request) error {
	if r.Body == nil {
		return nil
	}
	body := bufio.NewReader(r.Body)
	r.Body = struct {
		io.Reader
		io.Closer
	}{body, r.Body}
	for n := 1; ; n++ {
		b, err := body.Peek(n)
		if err != nil {
			return nil //nolint:nilerr // too short, broken, or nothing but space: the protocol's reader says so
		}
		if last := b[n-1]; !unicode.IsSpace(rune(last)) {
			if last == '[' {
				return errBatch
			}
			return nil
		}
	}
}

// toolCall is the method of a message that calls a tool.
const toolCall = "tools/call"

// countEach counts each message in the rate limit of the caller's key, whatever its method. Above the limit, a tool
// returns the problem, which its caller can read, and any other message fails.
func countEach(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		find, ok := ctx.Value(callerKey{}).(finder)
		if !ok {
			return nil, errUnconnected
		}
		who, err := find(ctx)
		if err != nil {
			who = caller{}
		} else if who.keyed {
			_, err = who.client.Admit(ctx)
		}
		if method == toolCall {
			return next(context.WithValue(ctx, admittedKey{}, admitted{who, err}), method, req)
		}
		if err != nil {
			return nil, errors.New(inTools(problemOf(err)))
		}
		return next(ctx, method, req)
	}
}

var errUnconnected = errors.New("mcp: connected without Handler and Serve")

// admitted is the caller of a tool, or why it was refused.
type admitted struct {
	who caller
	err error
}

// admittedKey is the context key of an [admitted].
type admittedKey struct{}

// encodedListing is the list of tools with its JSON of 20 kB, because encoding it for each client would take half a
// millisecond.
type encodedListing struct {
	*sdk.ListToolsResult
	encoded []byte
}

// MarshalJSON implements [json.Marshaler].
func (l encodedListing) MarshalJSON() ([]byte, error) { return l.encoded, nil }

// listOnce answers tools/list with the encoded list, which never changes.
func listOnce(listing encodedListing) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if method == "tools/list" {
				return listing, nil
			}
			return next(ctx, method, req)
		}
	}
}
