package privacy

// Redaction is a kind of what is blanked in answers before anything keeps or shows them.
type Redaction string

// The kinds that there are.
const (
	Emails Redaction = "emails" // e-mail addresses
	Phones Redaction = "phones" // telephone numbers
)
