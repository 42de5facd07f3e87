package mcp

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	mostEntries = 500
	mostEntry   = 2 << 10 // bytes of one entry
)

// journal keeps the newest entries of the log of a server. It outlives its
// connections.
type journal struct {
	now func() time.Time

	mu      sync.Mutex
	entries []LogEntry
}

// Happening names what happened to a connection.
type Happening string

// The happenings. Their comments say what the arguments are.
const (
	HappenedConnected  Happening = "connected"    // the version of the protocol
	HappenedFailed     Happening = "failed"       // why
	HappenedStreamEnd  Happening = "stream_ended" // why
	HappenedUnlisted   Happening = "unlisted"     // why its tools cannot be listed again
	HappenedNoTemplate Happening = "no_templates" // why
	HappenedCut        Happening = "cut"          // which list, after how many entries
	HappenedCutEndless Happening = "cut_endless"  // the same
	HappenedNoMessage  Happening = "no_message"   // how the text begins
	HappenedForeign    Happening = "foreign"      // the id of an answer that was not asked for
	HappenedTooLong    Happening = "too_long"     // the size of a message, and the largest that is accepted
)

// happenings has an English text for each, with its arguments as {0} and {1}.
var happenings = map[Happening]struct{ level, text string }{
	HappenedConnected:  {"info", "connected with protocol {0}"},
	HappenedFailed:     {"error", "{0}"},
	HappenedStreamEnd:  {"debug", "the stream of changes ended: {0}"},
	HappenedUnlisted:   {"warning", "its tools cannot be listed again: {0}"},
	HappenedNoTemplate: {"warning", "its templates of resources cannot be listed: {0}"},
	HappenedCut:        {"warning", "the list of {0} is cut after {1} of them"},
	HappenedCutEndless: {"warning", "the list of {0} is cut after {1} of them, because it does not end"},
	HappenedNoMessage:  {"warning", "a text that is not a message: {0}"},
	HappenedForeign:    {"debug", "an answer to no request of ours: id {0}"},
	HappenedTooLong:    {"error", "a message of {0}, where {1} are accepted"},
}

// wrote enters what the server logged.
func (j *journal) wrote(level, from, text string) {
	j.add(LogEntry{Level: shorten(level, 16), From: shorten(from, 100), Text: shorten(text, mostEntry)})
}

// happened enters what happened to the connection.
func (j *journal) happened(what Happening, args ...string) {
	var parts []string
	for i := range args {
		args[i] = shorten(args[i], mostEntry/2)
		parts = append(parts, "{"+strconv.Itoa(i)+"}", args[i])
	}
	words := happenings[what]
	j.add(LogEntry{Level: words.level, Text: strings.NewReplacer(parts...).Replace(words.text), Happening: what, Args: args})
}

func (j *journal) add(entry LogEntry) {
	entry.Time = j.now()
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.entries) >= 2*mostEntries {
		j.entries = slices.Clone(j.entries[len(j.entries)-mostEntries:])
	}
	j.entries = append(j.entries, entry)
}

func (j *journal) newest() []LogEntry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.entries[max(0, len(j.entries)-mostEntries):])
}
