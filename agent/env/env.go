// Package env is where tools act: the [Environment] with its files, search,
// commands and host facts. [Local] is this machine; others can be written
// against the same interfaces (LOOP-34, LOOP-125).
//
// Paths are absolute or relative to the working directory. Errors about files
// are of type [*Error] and read as sentences fit for a model or a person.
package env

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"time"

	"atelier.dev/atelier/agent/sandbox"
)

// Environment is a place where tools act. It is safe for concurrent use.
type Environment interface {
	Files
	Search
	Commands
	Host
}

// MaxWhole is the size in bytes up to which files are read whole: larger ones
// can be paged and searched, not edited.
const MaxWhole = 64 << 20

// Files reads and writes. Only regular files have content: for anything else
// these methods fail rather than block.
type Files interface {
	// ReadLines returns up to limit lines from the 1-based offset of a text
	// file, in memory that does not grow with the file (LOOP-23).
	ReadLines(ctx context.Context, path string, offset, limit int) (Page, error)
	// ReadFile returns all bytes of a file of up to [MaxWhole].
	ReadFile(ctx context.Context, path string) ([]byte, error)
	// WriteFile creates or replaces a file in one step, with the missing
	// directories above it. A file that exists keeps its mode. On an error
	// it is unchanged (LOOP-24).
	WriteFile(ctx context.Context, path string, data []byte) error
	// Stat describes a file or directory, following symbolic links.
	Stat(ctx context.Context, path string) (Info, error)
	// ListDirectory returns what lies up to depth levels below a directory,
	// in the order of the names, at most [MaxEntries]. Directories among it
	// that cannot be read are passed over, and say so.
	ListDirectory(ctx context.Context, path string, depth int) ([]Entry, error)
}

// Search finds files by content and by name. Hidden files are searched; .git and
// what ignore files name (.gitignore in a repository, .ignore anywhere) are not,
// unless the search begins there. Symbolic links are not followed. A search ends
// after [SearchTimeout] with what it has found.
type Search interface {
	Grep(ctx context.Context, query GrepQuery) (Hits, error)
	Glob(ctx context.Context, query GlobQuery) (Hits, error)
}

// Commands runs shell command lines. An error means that the command did not
// start.
type Commands interface {
	// Exec runs a command to its end, or to ctx's.
	Exec(ctx context.Context, command Command) (CommandResult, error)
	// Start starts a command that goes on beside its caller, until it ends, is
	// stopped or the environment is cleaned up; ctx bounds the starting alone.
	// Its output is merged.
	Start(ctx context.Context, command Command) (Process, error)
}

// Process is a command under way. It is safe for concurrent use.
type Process interface {
	// Read takes what was printed since the last Read, in bounded memory:
	// where it was too much, its middle is missing and a line says so.
	Read() string
	// Write types text to a command that was started with Input or TTY. Ctrl-C
	// (\x03) alone interrupts any command, Ctrl-D (\x04) at the end closes
	// the input. It does not wait long for a command that does not read.
	Write(text string) error
	// Wait returns how the command ended, with empty texts, or ctx's error
	// where it has not ended by then.
	Wait(ctx context.Context) (CommandResult, error)
	// Stop ends the command and everything it started, and waits for that.
	Stop()
}

// Host says what kind of machine this is, and opens and closes it.
type Host interface {
	// Initialize makes the environment ready for use. It is called once,
	// before anything else.
	Initialize(ctx context.Context) error
	// Cleanup ends what commands left running and gives back what the
	// environment holds. It is called last, when no Exec is under way; to
	// call it again does no harm.
	Cleanup(ctx context.Context) error
	// WorkingDirectory is absolute.
	WorkingDirectory() string
	// Platform is a GOOS value.
	Platform() string
	OSVersion() string
}

// Page is a run of lines.
type Page struct {
	// Lines are valid UTF-8 without line endings and byte order mark.
	Lines []string
	// First is the number of the first line, from 1.
	First int
	// Total counts the file's lines; -1 where the file is larger than
	// [MaxWhole] and was not read to its end.
	Total int
	// More says that lines follow the page.
	More bool
	// Hash identifies the whole file's content as [Hash] does; empty where
	// Total is -1.
	Hash string
}

// Hash identifies a file's content.
func Hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Info describes a file or directory.
type Info struct {
	Size    int64
	Mode    fs.FileMode
	ModTime time.Time
}

// MaxEntries caps a directory listing.
const MaxEntries = 1000

// Entry is one name in a listing.
type Entry struct {
	Path string // relative to the listed directory, with slashes
	Dir  bool
	Size int64
	// Unreadable says of a directory that what lies in it could not be listed,
	// or not all of it.
	Unreadable bool
}

// SearchTimeout ends a search.
const SearchTimeout = 20 * time.Second

// GrepMode says what a search for content reports.
type GrepMode string

// The modes of [GrepQuery]. The empty one is GrepFiles.
const (
	GrepFiles   GrepMode = "files_with_matches" // path
	GrepContent GrepMode = "content"            // path:line:text, context as path-line-text
	GrepCount   GrepMode = "count"              // path:matching lines
)

// GrepQuery searches files for lines (LOOP-27).
type GrepQuery struct {
	Pattern string // regular expression, RE2 dialect
	Path    string // file or directory; empty means the working directory
	// Glob limits the search to files whose name matches or, if it contains a
	// slash, whose path relative to the working directory does. A leading !
	// inverts it. A file that it matches is searched even if it is ignored.
	Glob string
	Type string // only files of a type in ripgrep's sense, such as "go"
	Mode GrepMode
	// IgnoreCase ignores the case of letters.
	IgnoreCase bool
	// Fixed takes the pattern as plain text.
	Fixed bool
	// Multiline lets a match span lines: a dot matches line feeds too.
	// GrepCount then counts matches.
	Multiline bool
	// Before and After count lines of context, for GrepContent.
	Before, After int
	// Limit caps the lines reported. 0 means [MaxHits].
	Limit int
}

// GlobQuery searches files by path (LOOP-28).
type GlobQuery struct {
	Pattern string // doublestar syntax, relative to Path
	Path    string // directory; empty means the working directory
	Limit   int    // caps the paths reported; 0 means [MaxHits]
}

// MaxHits caps every search.
const MaxHits = 10_000

// Hits is what a search found. Paths are relative to the working directory
// where they lie inside it. Grep's order is by path, Glob's newest first.
type Hits struct {
	Lines []string
	// PathEnds says, for [GrepContent], where the path ends that each line
	// begins with, in bytes; 0 for a line between groups.
	PathEnds []int
	// More says that there were more than the limit; TimedOut that the
	// search did not finish.
	More     bool
	TimedOut bool
	// Withheld are files, the first of them, that Grep passed over because they
	// may hold secrets: it searches one only where the query names it.
	Withheld []string
}

// Command is a shell command line to run (LOOP-26).
type Command struct {
	Line string
	Dir  string // empty means the working directory
	// Env adds variables ("NAME=value") to the filtered environment.
	Env     []string
	Timeout time.Duration // 0 means none
	// Merge sends standard error into Stdout, in the order written.
	Merge bool
	// Input lets a started command be written to. Without it, as with Exec,
	// it finds its input at an end.
	Input bool
	// TTY runs the command on a terminal, which takes input too and sends it
	// keys as they are; see [sandbox.Spec]. It fails with [ErrNoTerminal] where
	// there are none.
	TTY bool
	// Output receives text as it appears; see [sandbox.Spec]. May be nil.
	Output func(text string)
}

// CommandResult is how a command ended.
type CommandResult = sandbox.Result

// ErrNoTerminal is returned for a [Command] with TTY where there are no
// terminals.
var ErrNoTerminal = sandbox.ErrNoTerminal

// Spill is where the output of a command is that memory could not keep.
type Spill = sandbox.Spill
