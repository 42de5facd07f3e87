package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"

	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/redact"
	"atelier.dev/atelier/backend/transfer"
	"atelier.dev/atelier/cmd/cli/output"
)

// exportSession writes a session to a file, or to the standard output.
func (c *command) exportSession(use string, args []string) int {
	f := c.sessionFlags(use)
	var in transfer.ExportRequest
	format := f.String("format", string(transfer.ExportMarkdown), "md, html, recording, json, open-agent or comate")
	out := f.StringP("output", "o", "", "file to write, or folder to write it to (default: the standard output)")
	review := f.Bool("review", false, "list the secrets that were found, and write nothing")
	raw := f.Bool("no-redact", false, "leave secrets in")
	f.Bool("redact", true, "take secrets out, which is the default")
	f.StringArrayVar(&in.Redact.Words, "word", nil, "another text to take out; may be given more than once")
	f.StringArrayVar(&in.Redact.Keep, "keep", nil, "id of a finding to leave in; may be given more than once")
	f.BoolVar(&in.Redact.Home, "hide-home", false, "write ~ for the path of your own folder")
	f.BoolVar(&in.NoOutput, "no-output", false, "leave out what tools returned")
	f.BoolVar(&in.NoReasoning, "no-reasoning", false, "leave out what models thought")
	if code, ok := c.parse(f.FlagSet, args); !ok {
		return code
	}
	if redacted, err := f.GetBool("redact"); err == nil && !redacted {
		*raw = true
	}
	if f.NArg() != 1 {
		return c.misused(f.FlagSet, "name one session")
	}
	in.Format, in.Redact.Off = transfer.ExportFormat(*format), *raw
	if in.Key = in.Format.NewKey(); in.Key != "" && !*review {
		fmt.Fprintf(c.err, "The recording opens with this after its address: #%s\n", in.Key)
	}
	return c.withSession(f, f.Arg(0), func(a *app, session backend.SessionInfo) error {
		in.Session = session.ID
		if *review {
			found, more, err := a.Exports().Export(c.ctx, in, nil, nil)
			if err != nil {
				return err
			}
			return c.listSecrets(c.out, found, more, f.asJSON)
		}
		to := destination{c: c, path: *out, format: in.Format}
		var found []redact.SecretFinding
		more := 0
		err := c.patiently(to.progress, func() (err error) {
			found, more, err = a.Exports().Export(c.ctx, in, to.open, to.beside)
			return err
		})
		if err = to.close(err); err != nil {
			return err
		}
		if in.Redact.Off {
			if len(found) > 0 {
				fmt.Fprintf(c.err, "Secrets were left in: %d.\n", len(found)+more)
			}
			return nil
		}
		return c.listSecrets(c.err, found, more, false)
	})
}

// listSecrets says what was found, without revealing it.
func (c *command) listSecrets(out io.Writer, found []redact.SecretFinding, more int, asJSON bool) error {
	for _, s := range found {
		if asJSON {
			s.Value = ""
			if err := output.WriteJSON(out, s); err != nil {
				return err
			}
			continue
		}
		verb := "taken out"
		if s.Kept {
			verb = "left in"
		}
		if _, err := fmt.Fprintf(out, "%s  %s  %-11s  %s  %d×\n", verb, s.ID, s.Kind, output.OneLine(s.Masked), s.Count); err != nil {
			return err
		}
	}
	if more > 0 {
		_, err := fmt.Fprintf(out, "and %d more\n", more)
		return err
	}
	return nil
}

// destination is where an export goes.
type destination struct {
	c      *command
	path   string // empty is the standard output
	format transfer.ExportFormat
	temp   *os.File
	target string
	// written counts the bytes of the export, while it is written.
	written atomic.Int64
}

// Write implements [io.Writer] for the export, once it is open.
func (d *destination) Write(b []byte) (n int, err error) {
	if d.temp != nil {
		n, err = d.temp.Write(b)
	} else {
		n, err = d.c.out.Write(b)
	}
	d.written.Add(int64(n))
	return n, err
}

// progress says how far the export is.
func (d *destination) progress() string {
	return fmt.Sprintf("Exporting the session: %.1f MB written.", float64(d.written.Load())/1e6)
}

// open returns what the export is written to: a file that gets its name once it is
// whole.
func (d *destination) open(name string) (io.Writer, error) {
	if d.path == "" || d.path == "-" {
		return d, nil
	}
	d.target = d.path
	info, err := os.Stat(d.path)
	switch {
	case d.format == transfer.ExportComate:
		if err := os.MkdirAll(filepath.Join(d.path, "context"), 0o700); err != nil {
			return nil, fmt.Errorf("make the folder of the session: %w", err)
		}
		d.target = filepath.Join(d.path, "messages.jsonl")
	case err == nil && info.IsDir() && d.format == transfer.ExportOpenAgent:
		d.target = filepath.Join(d.path, "transcript.json")
	case err == nil && info.IsDir():
		d.target = filepath.Join(d.path, name)
	}
	if d.temp, err = os.CreateTemp(filepath.Dir(d.target), ".atelier-export-*"); err != nil {
		return nil, fmt.Errorf("write the export: %w", err)
	}
	return d, nil
}

// beside writes another file of the session.
func (d *destination) beside(name string, data []byte) error {
	if d.temp == nil {
		return nil
	}
	return os.WriteFile(filepath.Join(filepath.Dir(d.target), name), data, 0o600)
}

// close gives the file its name, unless the export failed.
func (d *destination) close(failed error) error {
	if d.temp == nil {
		return failed
	}
	err := errors.Join(failed, d.temp.Close())
	if err == nil {
		err = os.Rename(d.temp.Name(), d.target)
	}
	if err != nil {
		return errors.Join(err, os.Remove(d.temp.Name()))
	}
	fmt.Fprintf(d.c.err, "Written to %s.\n", output.OneLine(d.target))
	return nil
}
