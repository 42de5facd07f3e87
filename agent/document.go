package agent

// Document is a file of instructions for agents.
type Document struct {
	Path string `json:"path"` // relative to the project where it lies inside
	Size int    `json:"size"` // in bytes
	// Told is the number of its bytes that the model was told.
	Told int `json:"told"`
	// Problem says why the document was left out; empty if it was not.
	// ProblemID and ProblemArgs carry the same phrase in a form for translation.
	Problem     string            `json:"problem,omitempty"`
	ProblemID   DocumentProblemID `json:"problem_id,omitempty"`
	ProblemArgs []string          `json:"problem_args,omitempty"`
}

// DocumentProblemID identifies a reason to leave a document out, for translation.
// Stored events carry ids, so an id never changes its meaning.
type DocumentProblemID string

// The reasons. Comments name the arguments of their phrases.
const (
	DocumentUnopened  DocumentProblemID = "unopened"  //
	DocumentIrregular DocumentProblemID = "irregular" //
	DocumentUnread    DocumentProblemID = "unread"    // what the system said
	DocumentBinary    DocumentProblemID = "binary"    //
	DocumentForeign   DocumentProblemID = "foreign"   //
	DocumentMissing   DocumentProblemID = "missing"   //
	DocumentSecret    DocumentProblemID = "secret"    //
	DocumentImports   DocumentProblemID = "imports"   //
)

// documentProblems are the English phrases.
var documentProblems = map[DocumentProblemID]string{
	DocumentUnopened:  "it cannot be opened, or leads out of the project",
	DocumentIrregular: "it is not a regular file",
	DocumentUnread:    "it cannot be read: {0}",
	DocumentBinary:    "it is not text",
	DocumentForeign:   "it belongs to another user",
	DocumentMissing:   "it is imported by another document and does not exist",
	DocumentSecret:    "it usually holds secrets, which are not imported",
	DocumentImports:   "it is imported more than five levels deep, or after a hundred others",
}

// DocumentLeftOut returns a document that was left out, with its reason in both
// forms.
func DocumentLeftOut(path string, id DocumentProblemID, args ...string) Document {
	return Document{Path: path, Problem: Fill(documentProblems[id], args), ProblemID: id, ProblemArgs: args}
}
