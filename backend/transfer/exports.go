package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/dispatch"
	"atelier.dev/atelier/backend/redact"
	"atelier.dev/atelier/backend/transcript"
	"atelier.dev/atelier/backend/transcript/export"
	"atelier.dev/atelier/backend/transcript/reader"
)

// ExportConfig is what exports need of the application.
type ExportConfig struct {
	Store backend.Store
	// Session returns a session that may leave, by its id.
	Session func(ctx context.Context, id string) (backend.SessionInfo, error)
	// Keys returns the secrets that the application keeps. They never leave.
	Keys func(ctx context.Context) ([]string, error)
	// User is the home folder of the user, and Dir the folder for what a page will read.
	User, Dir string
	// PickSave asks the user for the path of a new file, by its usual name; empty if the
	// user picks none. If it is nil, pages read what they save.
	PickSave func(name string) (string, error)
}

// Exports lets sessions leave as files. It is safe for concurrent use.
type Exports struct {
	cfg    ExportConfig
	staged staged
}

// NewExports returns exports. Close forgets what no page has read.
func NewExports(cfg ExportConfig) *Exports { return &Exports{cfg: cfg} }

// Register registers the methods of exports.
func (x *Exports) Register(d *dispatch.Dispatcher) {
	dispatch.Handle(d, "transcripts.review", x.review)
	dispatch.Handle(d, "transcripts.save", x.save)
	dispatch.Handle(d, "transcripts.read", x.read)
}

// Close forgets what no page has read.
func (x *Exports) Close() error { return x.staged.close() }

// ExportFormat is a form in which a session can leave.
type ExportFormat string

// The formats.
const (
	ExportMarkdown  ExportFormat = "md"
	ExportHTML      ExportFormat = "html"
	ExportJSON      ExportFormat = "json" // our own, which can be imported again
	ExportOpenAgent ExportFormat = "open-agent"
	ExportComate    ExportFormat = "comate"
	// ExportRecording is an encrypted page, which its key opens without a network.
	ExportRecording ExportFormat = "recording"
)

// NewKey returns a key for what leaves in the format; empty if it needs none.
func (f ExportFormat) NewKey() string {
	if f != ExportRecording {
		return ""
	}
	return reader.NewKey()
}

// extensions are those of the files, by their formats.
var extensions = map[ExportFormat]string{
	ExportMarkdown: ".md", ExportHTML: ".html", ExportJSON: ".json", ExportOpenAgent: ".json", ExportComate: ".jsonl",
	ExportRecording: ".html",
}

// ExportRequest is for transcripts.review and transcripts.save.
type ExportRequest struct {
	Session string       `json:"session"`
	Format  ExportFormat `json:"format"`
	// NoOutput leaves out what tools returned, NoReasoning what models thought.
	NoOutput    bool                `json:"no_output,omitempty"`
	NoReasoning bool                `json:"no_reasoning,omitempty"`
	Redact      redact.RedactPolicy `json:"redact"`
	// Language is that of a document's labels.
	Language string `json:"language,omitempty"`
	// Costs shows what the session cost in a recording.
	Costs bool `json:"costs,omitempty"`
	// Key opens a recording; see [reader.NewKey].
	Key string `json:"-"`
}

// ExportReview answers transcripts.review: what was found, and the beginning of what
// would leave.
type ExportReview struct {
	Findings []redact.SecretFinding `json:"findings,omitempty"`
	// More counts secrets that are not listed. They are taken out.
	More    int    `json:"more,omitempty"`
	Preview string `json:"preview"`
	Cut     bool   `json:"cut,omitempty"` // the preview is not all of it
}

// maxPreview limits a preview, in bytes.
const maxPreview = 24 << 10

// review says what secrets a session has, and shows the beginning of the export.
func (x *Exports) review(ctx context.Context, in ExportRequest) (ExportReview, error) {
	e, err := x.open(ctx, in)
	if err != nil {
		return ExportReview{}, err
	}
	if in.Format == ExportHTML || in.Format == ExportRecording {
		e.in.Format = ExportMarkdown // the same words, as a text
	}
	out := ExportReview{}
	out.Findings, out.More = e.redactor.Findings()
	room := &limited{left: maxPreview}
	err = e.write(ctx, room)
	if out.Cut = errors.Is(err, errFull); out.Cut {
		err = nil
	}
	for len(room.b) > 0 && !utf8.Valid(room.b) && out.Cut {
		room.b = room.b[:len(room.b)-1]
	}
	out.Preview = string(room.b)
	return out, err
}

// limited keeps what fits and fails after that.
type limited struct {
	b    []byte
	left int
}

var errFull = errors.New("the limit is reached")

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.b, l.left = append(l.b, p[:n]...), l.left-n
	if n < len(p) {
		return n, errFull
	}
	return n, nil
}

// exporting is a session that is about to leave.
type exporting struct {
	store    backend.Store
	in       ExportRequest
	info     backend.SessionInfo
	redactor *redact.Redactor
}

// open reads a session once and learns its secrets.
func (x *Exports) open(ctx context.Context, in ExportRequest) (*exporting, error) {
	if extensions[in.Format] == "" {
		return nil, backend.Problem(backend.ProblemExportFormat, string(in.Format))
	}
	info, err := x.cfg.Session(ctx, in.Session)
	if err != nil {
		return nil, err
	}
	keys, err := x.cfg.Keys(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for keys: %w", err)
	}
	e := &exporting{store: x.cfg.Store, in: in, info: info, redactor: redact.New(in.Redact, keys, x.cfg.User)}
	if err := e.redactor.Scan(0, info); err != nil {
		return nil, err
	}
	for ev, err := range e.events(ctx) {
		if err != nil {
			return nil, err
		}
		if err := e.redactor.Scan(ev.Seq, ev.Data); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// events reads the log as far as the export's options let it leave.
func (e *exporting) events(ctx context.Context) iter.Seq2[agent.Event, error] {
	all := func(yield func(agent.Event, error) bool) {
		const page = 200
		for after := int64(0); after < e.info.Seq; after += page {
			events, err := e.store.Events(ctx, backend.EventRange{Session: e.info.ID, After: after, Before: min(after+page, e.info.Seq) + 1})
			if err != nil {
				yield(agent.Event{}, err)
				return
			}
			for _, ev := range events {
				if !yield(ev, nil) {
					return
				}
			}
		}
	}
	return transcript.Without(all, e.in.NoOutput, e.in.NoReasoning)
}

// redacted are the events without the secrets that the policy takes out.
func (e *exporting) redacted(ctx context.Context) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		for ev, err := range e.events(ctx) {
			if err == nil {
				ev, err = e.redactor.Event(ev)
			}
			if !yield(ev, err) || err != nil {
				return
			}
		}
	}
}

// write writes the session.
func (e *exporting) write(ctx context.Context, out io.Writer) error {
	info, err := redact.Value(e.redactor, e.info)
	if err != nil {
		return err
	}
	events := e.redacted(ctx)
	switch e.in.Format {
	case ExportMarkdown:
		return export.Markdown(out, info, events, e.in.Language)
	case ExportHTML:
		return export.HTML(out, info, events, e.in.Language)
	case ExportRecording:
		r := reader.Recording{Title: info.Title, Language: e.in.Language, Costs: e.in.Costs}
		return r.Write(out, e.in.Key, transcript.OnlyKept(e.info, events))
	case ExportOpenAgent:
		return transcript.WriteOpenAgent(out, info, events)
	case ExportComate:
		return transcript.WriteComate(out, info, events)
	}
	return transcript.WriteNative(out, info, events)
}

// name is the name of the file, from the session's title.
func (e *exporting) name() string {
	info, err := redact.Value(e.redactor, e.info)
	title := info.Title
	if err != nil {
		title = ""
	}
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	name := strings.Join(words, "-")
	for utf8.RuneCountInString(name) > 60 {
		_, size := utf8.DecodeLastRuneInString(name)
		name = strings.TrimRight(name[:len(name)-size], "-")
	}
	if name == "" {
		name = "session"
	}
	return name + extensions[e.in.Format]
}

// Exported answers transcripts.save. The host saved the file at Path, or the page reads
// it by Token; neither is set if the user chose no place.
type Exported struct {
	Path  string `json:"path,omitempty"`
	Token string `json:"token,omitempty"`
	Name  string `json:"name"`
	// Key opens a recording. Nothing keeps it.
	Key string `json:"key,omitempty"`
}

// save writes a session to the place that the user picks, or keeps it for the
// page.
func (x *Exports) save(ctx context.Context, in ExportRequest) (Exported, error) {
	e, err := x.open(ctx, in)
	if err != nil {
		return Exported{}, err
	}
	out := Exported{Name: e.name()}
	e.in.Key = in.Format.NewKey()
	out.Key = e.in.Key
	if x.cfg.PickSave == nil {
		out.Token, err = x.staged.keep(x.cfg.Dir, func(file io.Writer) error { return e.write(ctx, file) })
		return out, err
	}
	switch out.Path, err = x.cfg.PickSave(out.Name); {
	case err != nil:
		return out, backend.Problem(backend.ProblemExportUnsaved, out.Name).Because(err)
	case out.Path == "":
		return out, nil
	}
	return out, saveTo(out.Path, func(file io.Writer) error { return e.write(ctx, file) })
}

// saveTo replaces a file once everything is written. Only the user can read it.
func saveTo(path string, write func(io.Writer) error) error {
	unsaved := func(err error) error { return backend.Problem(backend.ProblemExportUnsaved, path).Because(err) }
	f, err := os.CreateTemp(filepath.Dir(path), ".atelier-export-*")
	if err != nil {
		return unsaved(err)
	}
	err = write(f)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(unsaved(err), os.Remove(f.Name()))
	}
	return nil
}

// Export writes a session, and returns the secrets that were found and how many more
// there are. sidecar, if it is not nil, gets what the format keeps beside the
// messages.
func (x *Exports) Export(ctx context.Context, in ExportRequest, path func(name string) (out io.Writer, err error), sidecar func(name string, data []byte) error) ([]redact.SecretFinding, int, error) {
	e, err := x.open(ctx, in)
	if err != nil {
		return nil, 0, err
	}
	found, more := e.redactor.Findings()
	if path == nil {
		return found, more, nil
	}
	out, err := path(e.name())
	if err == nil {
		err = e.write(ctx, out)
	}
	if err == nil && in.Format == ExportComate && sidecar != nil {
		var state []byte
		if state, err = e.comateState(); err == nil {
			err = sidecar("state.json", state)
		}
	}
	return found, more, err
}

func (e *exporting) comateState() ([]byte, error) {
	info, err := redact.Value(e.redactor, e.info)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	if err := enc.Encode(transcript.ComateStateOf(info)); err != nil {
		return nil, fmt.Errorf("encode the state: %w", err)
	}
	return b.Bytes(), nil
}

// staged is the newest export that a page has yet to read. Another one takes its
// place.
type staged struct {
	mu    sync.Mutex
	token string
	file  *os.File
}

// keep writes a file that only this process knows.
func (s *staged) keep(dir string, write func(io.Writer) error) (token string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the folder for exports: %w", err)
	}
	f, err := os.CreateTemp(dir, "export-*")
	if err != nil {
		return "", fmt.Errorf("keep the export: %w", err)
	}
	_ = os.Remove(f.Name()) // where the system allows it, nothing is left after a crash
	if err := write(f); err != nil {
		return "", errors.Join(err, discard(f))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	left := s.drop()
	s.file, s.token = f, ulid.Make().String()
	return s.token, left
}

// drop forgets the file. The caller holds mu.
func (s *staged) drop() error {
	f := s.file
	s.file, s.token = nil, ""
	if f == nil {
		return nil
	}
	return discard(f)
}

func discard(f *os.File) error {
	err := f.Close()
	if removed := os.Remove(f.Name()); removed != nil && !errors.Is(removed, os.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	return err
}

// close forgets the file.
func (s *staged) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drop()
}

// ExportPart asks for a part of an export.
type ExportPart struct {
	Token  string `json:"token"`
	Offset int64  `json:"offset"`
}

// ExportBytes is a part of an export; the last one has no Next.
type ExportBytes struct {
	Data []byte `json:"data,omitempty"`
	Next int64  `json:"next,omitempty"`
}

// maxPart limits a part of an export, in bytes.
const maxPart = 512 << 10

// read returns a part of the newest export, which is forgotten after its last
// part.
func (x *Exports) read(_ context.Context, in ExportPart) (ExportBytes, error) {
	s := &x.staged
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil || in.Token != s.token || in.Offset < 0 {
		return ExportBytes{}, backend.Problem(backend.ProblemExportGone)
	}
	part := make([]byte, maxPart)
	n, err := s.file.ReadAt(part, in.Offset)
	switch {
	case errors.Is(err, io.EOF):
		return ExportBytes{Data: part[:n]}, s.drop()
	case err != nil:
		return ExportBytes{}, fmt.Errorf("read the export: %w", err)
	}
	return ExportBytes{Data: part[:n], Next: in.Offset + int64(n)}, nil
}
