package trust

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"atelier.dev/atelier/agent"
)

// Note is something that a person who decides about an item should know.
type Note struct {
	ID   NoteID   `json:"id"`
	Args []string `json:"args,omitempty"` // they fill the sentence
	// Message is the sentence in English.
	Message string `json:"message"`
}

// NoteID names a kind of note, for those who word it in another language.
type NoteID string

// The notes, each with the arguments of its sentence.
const (
	NoteUntold  NoteID = "untold"  // what of the command
	NoteUnread  NoteID = "unread"  // why
	NoteInline  NoteID = "inline"  // the program
	NoteBuild   NoteID = "build"   // the program
	NoteLoads   NoteID = "loads"   // the program
	NoteOutside NoteID = "outside" // the link, where it leads
	NoteHidden  NoteID = "hidden"  // the file
	NoteSpecial NoteID = "special" // the file
	NoteLarge   NoteID = "large"   // the file
	NoteMany    NoteID = "many"    // the number of files, of megabytes
	// Of servers.
	NoteVariables NoteID = "variables"  // the variables
	NoteSecrets   NoteID = "secrets"    // what the secrets are for
	NoteTakesName NoteID = "takes_name" // the file of the other server
)

var notes = map[NoteID]string{
	NoteUntold:    "What {0} runs is known only when it runs. The files that are named are checked, and those in the project's folders for hooks.",
	NoteUnread:    "The command cannot be read: {0}. The files that are named in it are checked, and those in the project's folders for hooks.",
	NoteInline:    "The code for {0} may load files that are not checked.",
	NoteBuild:     "{0} runs what other files of the project say. They are not checked.",
	NoteLoads:     "What {0} runs may load other files of the project. They are not checked, unless they stand in its folders for hooks.",
	NoteOutside:   "{0} leads out of the project, to {1}. What is there is not checked.",
	NoteHidden:    "{0} contains characters that are invisible or change the order of its text.",
	NoteSpecial:   "{0} is not a regular file that can be read, so nobody can tell what would run.",
	NoteLarge:     "{0} is too large to be checked.",
	NoteVariables: "It is given the values of these variables of yours: {0}.",
	NoteSecrets:   "It is given the secrets that you entered for {0}.",
	NoteTakesName: "It takes the place of the server of this name in {0}, and rules for that one hold for it.",

	NoteMany: "There are more than {0} files or {1} MB to check. Move the script to a folder with fewer files.",
}

// NewNote returns a note of an item's owner.
func NewNote(id NoteID, args ...string) Note { return note(id, args...) }

func note(id NoteID, args ...string) Note {
	return Note{ID: id, Args: args, Message: agent.Fill(notes[id], args)}
}

// blocks reports whether nothing can be accepted with this note.
func (n Note) blocks() bool { return n.ID == NoteSpecial || n.ID == NoteLarge || n.ID == NoteMany }

// quote returns a file's name as it is shown: in quotation marks, with escapes, if
// it has characters that cannot be seen.
func quote(name string) string {
	if utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return name
	}
	return strconv.Quote(name)
}
