package privacy

// Redaction is a kind of data that is blanked in answers before they are stored or shown.
type Redaction string

// The kinds of redaction.
const (
	Emails Redaction = "emails" // email addresses
	Phones Redaction = "phones" // telephone numbers
)
