package schema

import (
	"encoding/json"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
)

// BulkJob is a bulk job: a file of reads that is worked in the background.
type BulkJob struct {
	ID          string  `json:"id" min:"1"`                                      // its name, chosen by the account
	State       string  `json:"state" words:"queued running waiting done ended"` // its state; ended means that it was stopped, or that its time was over
	Lines       int64   `json:"lines" min:"0"`                                   // the lines of the file that were accepted
	Found       int64   `json:"found" min:"0"`                                   // those that were answered
	Missing     int64   `json:"missing" min:"0"`                                 // those whose object does not exist
	Failed      int64   `json:"failed" min:"0"`                                  // those that could not be read
	Left        int64   `json:"left" min:"0"`                                    // those without a result
	CreditsUsed int64   `json:"credits_used" min:"0"`                            // credits charged so far
	Most        int64   `json:"most" min:"0"`                                    // credits that all lines may cost
	EtaS        *int64  `json:"eta_s" min:"0"`                                   // seconds until it is done, at the latest speed, or until lines of a waiting job are tried; null if that is not known
	WaitingFor  *string `json:"waiting_for"`                                     // what a waiting job waits for: credits, max_credits, space, retry for lines that have failed and are tried again, or the platform whose limit is used up or which is down; null for others
}

// BulkLine is one line of the file of a BulkJob: a read, by its platform, operation and parameters, or by an address.
type BulkLine struct {
	Platform  platform.ID       `json:"platform,omitempty"`  // the platform
	Operation string            `json:"operation,omitempty"` // the operation, such as profile
	Params    map[string]string `json:"params,omitempty"`    // the parameters of the operation, without options and cursor
	URL       string            `json:"url,omitempty"`       // in place of them, a web address, or a text that contains one
}

// BulkStart is what became of the file of a BulkJob.
type BulkStart struct {
	ID           string        `json:"id" min:"1"`            // the name of the job
	Accepted     int64         `json:"accepted" min:"1"`      // the lines that are read
	Refused      []BulkRefusal `json:"refused"`               // the first 1,000 lines that are not
	RefusedLines int64         `json:"refused_lines" min:"0"` // how many there are in total
	Credits      BulkCredits   `json:"credits"`               // the price of the accepted lines

	New bool `json:"-"` // whether the job was made by this call
}

// BulkRefusal is a line that is not read.
type BulkRefusal struct {
	Line    int64          `json:"line" min:"1"` // its number in the file
	Problem *problem.Error `json:"problem"`      // why
}

// BulkCredits is the price of a BulkJob if every line is found; what is not found is free.
type BulkCredits struct {
	Least int64 `json:"least" min:"0"` // credits, if no enrichment is charged
	Most  int64 `json:"most" min:"0"`  // credits that it cannot exceed
}

// BulkResult is the result of one line of a BulkJob.
type BulkResult struct {
	Line        int64           `json:"line" min:"1"`         // the number of the line in the file
	Key         string          `json:"key"`                  // what was asked for: a handle, an id or an address
	Data        json.RawMessage `json:"data"`                 // the answer to the read; null if there is a problem
	Problem     *problem.Error  `json:"problem"`              // why there is no answer; null if there is one
	Cache       *CacheState     `json:"cache"`                // whether the answer came from the cache; null if there is none
	DataAgeS    int64           `json:"data_age_s" min:"0"`   // its age when it was read, in seconds
	CreditsUsed int64           `json:"credits_used" min:"0"` // credits charged for it; an enrichment is charged once for lines that are read together
	Raw         json.RawMessage `json:"raw,omitempty"`        // with include_raw, the untouched answer of the upstream to a list; otherwise absent
}
