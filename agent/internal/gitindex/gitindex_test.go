package gitindex

import (
	"bytes"
	"encoding/binary"
	"testing"
)

func FuzzNames(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if names, ok := Names(data); !ok && names != nil {
			t.Errorf("%q of an index that cannot be read", names)
		}
	})
}

// An index whose names share their beginnings, and so stand for more than memory
// holds, cannot be read.
func TestIndexOfHugeNames(t *testing.T) {
	t.Parallel()
	const entries, long = 3000, 32 << 10
	entry := append(make([]byte, 60), 0x0f, 0xff) // a name of 4095 bytes or more
	data := binary.BigEndian.AppendUint32([]byte("DIRC"), 4)
	data = binary.BigEndian.AppendUint32(data, entries)
	data = append(append(append(append(data, entry...), 0), bytes.Repeat([]byte("a"), long)...), 0)
	for range entries - 1 {
		data = append(append(append(data, entry...), 0), "b\x00"...)
	}
	if names, ok := Names(data); ok {
		t.Errorf("%d names were read", len(names))
	}
}
