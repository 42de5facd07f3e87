package compat

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
)

// filter mends a stream before the SDK reads it: a top-level "error": null,
// which some servers put into every chunk, would end the stream as an error.
type filter struct {
	body  io.ReadCloser
	lines *bufio.Scanner
	rest  []byte
	// done says that the [DONE] line has passed, which the SDK does not tell
	// from a mere end of file.
	done bool
}

// longestLine is the SDK's own limit.
const longestLine = 32 << 20

// intercept is middleware that puts the filter between the server and the SDK.
func (f *filter) intercept(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	resp, err := next(req)
	if err != nil {
		return nil, err
	}
	f.body = resp.Body
	f.lines = bufio.NewScanner(resp.Body)
	f.lines.Buffer(nil, longestLine)
	resp.Body = f
	return resp, nil
}

// Read implements [io.Reader].
func (f *filter) Read(p []byte) (int, error) {
	if len(f.rest) == 0 {
		if !f.lines.Scan() {
			if err := f.lines.Err(); err != nil {
				return 0, err
			}
			return 0, io.EOF
		}
		f.rest = append(f.mend(f.lines.Bytes()), '\n')
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// Close implements [io.Closer].
func (f *filter) Close() error { return f.body.Close() }

// mend returns a line that does not share memory with the scanner's.
func (f *filter) mend(line []byte) []byte {
	data, ok := bytes.CutPrefix(line, []byte("data:"))
	if !ok {
		return bytes.Clone(line)
	}
	data = bytes.TrimSpace(data)
	if bytes.HasPrefix(data, []byte("[DONE]")) {
		f.done = true
	}
	if bytes.Contains(data, []byte(`"error"`)) {
		data = withoutNullError(data)
	}
	return append([]byte("data: "), data...)
}

func withoutNullError(data []byte) []byte {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil || string(fields["error"]) != "null" {
		return data
	}
	delete(fields, "error")
	mended, err := json.Marshal(fields)
	if err != nil {
		return data
	}
	return mended
}
