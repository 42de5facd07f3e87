package objects

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"sync"
)

// The first byte of an object says how the rest is written. Neither is 0, which is
// what a power failure may leave.
const (
	plain    = 'p'
	deflated = 'd'
)

// worthwhile is the size in bytes from which contents are compressed.
const worthwhile = 128

var writers = sync.Pool{New: func() any {
	w, err := flate.NewWriter(io.Discard, flate.BestSpeed)
	if err != nil {
		panic(err) // the level is valid
	}
	return w
}}

// pack returns the object of contents.
func pack(contents []byte) []byte {
	if len(contents) >= worthwhile {
		var out bytes.Buffer
		out.Grow(len(contents)/3 + worthwhile)
		out.WriteByte(deflated)
		w := writers.Get().(*flate.Writer)
		defer writers.Put(w)
		w.Reset(&out)
		_, err := w.Write(contents)
		if err == nil {
			err = w.Close()
		}
		if err == nil && out.Len() < len(contents)-len(contents)/16 {
			return out.Bytes()
		}
	}
	return append([]byte{plain}, contents...)
}

// unpack returns the contents of an object, which have the given size. It never
// reads more, even if the object claims to be larger.
func unpack(packed []byte, size int64) ([]byte, error) {
	if len(packed) == 0 {
		return nil, errors.New("the object is empty")
	}
	switch packed[0] {
	case plain:
		return packed[1:], nil
	case deflated:
		r := flate.NewReader(bytes.NewReader(packed[1:]))
		defer r.Close()
		var out bytes.Buffer
		out.Grow(int(size) + bytes.MinRead)
		if _, err := io.Copy(&out, io.LimitReader(r, size+1)); err != nil {
			return nil, fmt.Errorf("expand an object: %w", err)
		}
		return out.Bytes(), nil
	}
	return nil, errors.New("the object has an unknown form")
}
