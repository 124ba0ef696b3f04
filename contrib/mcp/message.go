package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/socialdata/socialdata"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/socialdata/socialdata/problem"
)

// errBatch refuses several messages in one request, because thousands of them would count as one.
var errBatch = problem.New(problem.InvalidRequest,
	"a request holds one message of JSON-RPC; send the messages one by one")

// maxName is the maximum length of a method and of the name in its parameters, in bytes, and maxOther that of a message
// that calls no tool: the SDK quotes what it cannot decode.
const (
	maxName  = 100
	maxOther = 4 << 10
)

var (
	errName = problem.New(problem.InvalidRequest,
		"a method and the name of a tool have at most %d characters, and there are no resources", maxName)
	errMessage = problem.New(problem.InvalidRequest,
		"this is not a message of JSON-RPC 2.0 that the protocol knows: check jsonrpc, id, method and params")
)

// checkMessage fails when the body of r is a list of messages, or has something that an answer would repeat at length.
// The body can still be read from the beginning: the protocol's reader reports everything else.
func checkMessage(r *http.Request) error {
	if r.Body == nil {
		return nil
	}
	body, _ := io.ReadAll(io.LimitReader(r.Body, maxRequest+1))
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), r.Body), r.Body}
	if body = bytes.TrimSpace(body); len(body) > 0 && body[0] == '[' {
		return errBatch
	}
	var message struct {
		Version string `json:"jsonrpc"`
		Method  string
		Params  struct {
			Name, URI string
			Arguments map[string]json.RawMessage
			Meta      map[string]json.RawMessage `json:"_meta"`
		}
	}
	err := json.Unmarshal(body, &message)
	if max(len(message.Method), len(message.Params.Name), len(message.Params.URI)) > maxName {
		return errName
	}
	if len(body) > maxOther && len(body) <= maxRequest &&
		(err != nil || message.Version != "2.0" || message.Method != toolCall) {
		return errMessage
	}
	return nil
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
			_, err = socialdata.FrontEnd(who.client).Admit(ctx)
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
