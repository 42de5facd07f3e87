// Package env is where tools act: the [Environment] with its files, search,
// commands and host facts. [Local] is this machine; others can implement the
// same interfaces (LOOP-34, LOOP-125).
//
// Paths are absolute or relative to the working directory. Errors about files
// have type [*Error] and are phrased for a model or a person.
//
// # Commands that only read
//
// [Foresee] checks on this machine what package command found in a line: where the programs are,
// which files patterns match, whether the repository's configuration could start anything. Only
// then is Access.OnlyReads set, with the files that the line reads. If a line would print text from
// commits, git is asked first which files that text is from (committed.go); if git does not answer,
// the user is asked. Such a command runs with few variables ([Harmless]), which keep git and other
// programs from starting helpers. Secrets of the project that git does not track (secrets.go) are
// hidden from confined commands.
package env

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net"
	"time"

	"atelier.dev/atelier/agent/internal/charset"
	"atelier.dev/atelier/agent/sandbox"
)

// Environment is a place where tools act. It is safe for concurrent use.
type Environment interface {
	Files
	Search
	Commands
	Host
}

// MaxWhole is the size in bytes up to which files are read whole. Larger ones
// can be paged and searched, but not edited.
const MaxWhole = 64 << 20

// Files reads and writes files. Only regular files have content; for anything
// else these methods fail rather than block.
type Files interface {
	// ReadLines returns up to limit lines of a text file from the 1-based
	// offset. Its memory does not grow with the file (LOOP-23).
	ReadLines(ctx context.Context, path string, offset, limit int) (Page, error)
	// ReadFile returns all bytes of a file of up to [MaxWhole].
	ReadFile(ctx context.Context, path string) ([]byte, error)
	// WriteFile creates or replaces a file atomically and creates missing
	// parent directories. An existing file keeps its mode. On an error it is
	// unchanged (LOOP-24).
	WriteFile(ctx context.Context, path string, data []byte) error
	// Stat describes a file or directory, following symbolic links.
	Stat(ctx context.Context, path string) (Info, error)
	// ListDirectory returns what is up to depth levels below a directory,
	// ordered by name, at most [MaxEntries]. Unreadable directories are skipped
	// and marked.
	ListDirectory(ctx context.Context, path string, depth int) ([]Entry, error)
}

// Search finds files by content and by name. It searches hidden files, but not
// .git or files that ignore files name (.gitignore in a repository, .ignore
// anywhere), unless the search begins there. Symbolic links are not followed. A
// search ends after [SearchTimeout] with its findings so far.
type Search interface {
	Grep(ctx context.Context, query GrepQuery) (Hits, error)
	Glob(ctx context.Context, query GlobQuery) (Hits, error)
}

// Commands runs shell command lines. An error means that the command did not
// start.
type Commands interface {
	// Exec runs a command until it or ctx ends.
	Exec(ctx context.Context, command Command) (CommandResult, error)
	// Start starts a command that runs beside its caller until it ends, is
	// stopped or the environment is cleaned up; ctx limits only the start.
	// Standard output and standard error are merged.
	Start(ctx context.Context, command Command) (Process, error)
}

// Process is a running command. It is safe for concurrent use.
type Process interface {
	// Read returns the output since the last Read, in bounded memory. If there
	// was too much, the middle is missing and a line says so.
	Read() string
	// Write types text to a command that was started with Input or TTY. Ctrl-C
	// (\x03) alone interrupts any command, Ctrl-D (\x04) at the end closes the
	// input. Write does not wait long for a command that does not read.
	Write(text string) error
	// Wait returns how the command ended, with empty texts, or ctx's error if
	// ctx ends first.
	Wait(ctx context.Context) (CommandResult, error)
	// Stop ends the command and everything it started, and waits until that is
	// done.
	Stop()
}

// Server is implemented by processes that may open ports.
type Server interface {
	// Ports returns the ports of the loopback on which the command listens, or what
	// it started.
	Ports() []int
	// Dial connects to one.
	Dial(port int) (net.Conn, error)
	// Private reports whether its loopback is not that of this machine.
	Private() bool
}

// Host describes the machine, and opens and closes it.
type Host interface {
	// Initialize prepares the environment. It is called once, before anything
	// else.
	Initialize(ctx context.Context) error
	// Cleanup ends running commands and releases resources. It is called last,
	// when no Exec is running, and may be called again.
	Cleanup(ctx context.Context) error
	// WorkingDirectory is absolute.
	WorkingDirectory() string
	// Platform is a GOOS value.
	Platform() string
	OSVersion() string
}

// Page is a range of lines.
type Page struct {
	// Lines are valid UTF-8 without line endings and byte order mark.
	Lines []string
	// First is the number of the first line, from 1.
	First int
	// Total counts the file's lines; -1 if the file is larger than [MaxWhole]
	// and was not read to its end.
	Total int
	// More says that further lines follow.
	More bool
	// Hash is the [Hash] of the whole file's content as UTF-8, byte order mark
	// included; empty if Total is -1.
	Hash string
	// Encoding names the encoding if it is not UTF-8; [UnknownEncoding] if it is not
	// certain. Then the bytes that are not UTF-8 are U+FFFD in Lines.
	Encoding string
}

// Note says in which encoding the file is; empty if it is UTF-8.
func (p Page) Note() string {
	switch p.Encoding {
	case "":
		return ""
	case UnknownEncoding:
		return "[The file is not UTF-8, and its encoding is not certain: what is not ASCII is shown as \uFFFD. Only plain ASCII can be changed in it, " +
			"unless .editorconfig names its charset or the file is converted to UTF-8.]\n"
	}
	return fmt.Sprintf("[The file is in %s. It is shown here as UTF-8, and changes are written back in %[1]s.]\n", p.Encoding)
}

// UnknownEncoding is the encoding of a page about which nothing is certain.
var UnknownEncoding = charset.Uncertain.Name

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

// MaxEntries limits a directory listing.
const MaxEntries = 1000

// Entry is one name in a listing.
type Entry struct {
	Path string // relative to the listed directory, with slashes
	Dir  bool
	Size int64
	// Unreadable marks a directory that could not be listed completely.
	Unreadable bool
}

// SearchTimeout limits a search.
const SearchTimeout = 20 * time.Second

// GrepMode selects what a content search reports.
type GrepMode string

// The modes of [GrepQuery]. An empty mode means GrepFiles.
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
	// slash, whose path relative to the working directory matches. A leading !
	// inverts it. A file that it matches is searched even if it is ignored.
	Glob string
	Type string // only files of a type in ripgrep's sense, such as "go"
	Mode GrepMode
	// IgnoreCase ignores the case of letters.
	IgnoreCase bool
	// Fixed takes the pattern as plain text.
	Fixed bool
	// Multiline lets a match span lines; a dot then matches line feeds too.
	// GrepCount then counts matches.
	Multiline bool
	// Before and After count lines of context, for GrepContent.
	Before, After int
	// Limit limits the reported lines; 0 means [MaxHits].
	Limit int
}

// GlobQuery searches files by path (LOOP-28).
type GlobQuery struct {
	Pattern string // doublestar syntax, relative to Path
	Path    string // directory; empty means the working directory
	Limit   int    // limits the reported paths; 0 means [MaxHits]
}

// MaxHits limits every search.
const MaxHits = 10_000

// Hits is the result of a search. Paths inside the working directory are
// relative to it. Grep orders by path, Glob lists the newest first.
type Hits struct {
	Lines []string
	// PathEnds has, for [GrepContent], the length in bytes of the path at the
	// start of each line; 0 for a line between groups.
	PathEnds []int
	// More says that there were more than the limit; TimedOut that the
	// search did not finish.
	More     bool
	TimedOut bool
	// Links lists the first symbolic links that were not followed and lead elsewhere, each
	// as "link -> target".
	Links []string
	// Withheld lists the first files that Grep skipped because they may hold
	// secrets. It searches such a file only if the query names it.
	Withheld []string
}

// Command is a shell command line to run (LOOP-26).
type Command struct {
	Line string
	Dir  string // empty means the working directory
	// Env adds variables ("NAME=value") to the filtered environment. A name alone takes
	// its variable away, one that ends in "*" all that begin so.
	Env     []string
	Timeout time.Duration // 0 means none
	// Merge sends standard error into Stdout, in the order written.
	Merge bool
	// Input lets a started command be written to. Without it, as with Exec, the
	// command's input is at its end.
	Input bool
	// TTY runs the command on a terminal, which also accepts input and delivers
	// keys; see [sandbox.Spec]. It fails with [ErrNoTerminal] if the platform
	// has no terminals.
	TTY bool
	// Output receives text as it appears; see [sandbox.Spec]. It may be nil.
	Output func(text string)
	// Keep limits the memory for what a started command prints between two reads, in
	// bytes; 0 means 256 KB, because many may run at once.
	Keep int
	// Exposed says that the project has more secrets than can be hidden from a confined
	// command, which then reaches no host. The environment sets it.
	Exposed bool
	// Unconfined runs it as the user would, and Hosts are what it may reach though
	// confined commands may not. A person has agreed to that.
	Unconfined bool
	Hosts      []string
}

// Outliver is implemented by environments whose commands may live on after the call that
// waited for them.
type Outliver interface {
	// MayOutlive reports whether a command can be started to run beside its caller as well
	// as Exec would run it. It is false for a command that gets more rights for its time,
	// such as git commands that change a repository: nothing of it may live on.
	MayOutlive(ctx context.Context, command Command) bool
}

// MaxKept is how much of its output Exec returns, in bytes.
const MaxKept = sandbox.DefaultLimit

// CommandResult is how a command ended.
type CommandResult = sandbox.Result

// ErrNoTerminal is returned for a [Command] with TTY if the platform has no
// terminals.
var ErrNoTerminal = sandbox.ErrNoTerminal

// Spill says where the output is that exceeded the memory limit.
type Spill = sandbox.Spill
