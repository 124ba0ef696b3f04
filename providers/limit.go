package providers

import "time"

// Limit is one of an upstream's limits: a number of reads or units per window. It is safe for concurrent use.
type Limit interface {
	// Name returns a name that is unique among the provider's limits, such as "searches".
	Name() string
	// State returns the current state of the limit.
	State() LimitState
	// Share sets the shares of the limit that the classes may use.
	Share(Shares)
	// Save returns what to save for the limit, given saved, which all processes have saved so far, "" for nothing. It
	// returns "" if there is nothing to save: the limit is unknown, or its window is shorter than a minute.
	Save(saved string) string
	// Restore applies saved data: the usage of other processes counts from then on.
	Restore(saved string)
	// OnUnsaved sets what reads that no caller waits for call before they are sent while much is unsaved: save saves the
	// limit and restores what is saved. If it fails, the read is sent all the same.
	OnUnsaved(save func() error)
}

// LimitState is the state of a limit. Used and Left add up to Limit.
type LimitState struct {
	Limit int64 // 0 if the upstream has not announced it
	Used  int64
	Left  int64
	Reset time.Time // when the limit resets, or when the first usage leaves a sliding window; zero when unused
	// Unsaved is the usage of this process since the last save.
	Unsaved int64
}

// MuchUnsaved reports whether a fiftieth of the limit or more is unsaved: three processes stay within 5 % of a limit if
// none uses more of it before it saves.
func (s LimitState) MuchUnsaved() bool { return s.Unsaved > 0 && s.Unsaved*50 >= s.Limit }

// Known reports whether the size of the limit is known.
func (s LimitState) Known() bool { return s.Limit > 0 }

// Shares are the percentages of a limit that classes of reads may use; the rest is reserved for others.
type Shares struct {
	Dear       int // expensive reads: those with a high cost, and those against a small limit
	Background int // reads that no caller waits for
}

// DefaultShares reserves a fifth for callers' cheap reads, and half for callers.
func DefaultShares() Shares { return Shares{Dear: 80, Background: 50} }
