package sandbox

import "io"

// rawWriter passes output on as it is, and says when it ended.
type rawWriter struct {
	pass func(p []byte)
	end  func() // may be nil
}

func (w rawWriter) Write(p []byte) (int, error) {
	w.pass(p)
	return len(p), nil
}

// ReadFrom implements [io.ReaderFrom]: os/exec copies a command's output with it.
func (w rawWriter) ReadFrom(r io.Reader) (n int64, err error) {
	if w.end != nil {
		defer w.end()
	}
	return io.Copy(struct{ io.Writer }{w}, r)
}

// PID returns the number of the command's process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the command has ended, with everything that ends with it.
func (p *Process) Done() <-chan struct{} { return p.done }

// Errors returns what is kept of standard error so far, at most [Spec.Limit]
// bytes.
func (p *Process) Errors() string {
	p.stderr.mu.Lock()
	defer p.stderr.mu.Unlock()
	return p.stderr.text()
}

// Input returns the standard input of a command that has one ([Spec.Input]), for
// a caller that writes messages rather than keys. Write blocks while the command
// does not read, and fails once it has ended or Close was called.
func (p *Process) Input() io.WriteCloser { return p.keys.opened }
