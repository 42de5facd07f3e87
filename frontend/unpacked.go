package frontend

import (
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// packed is what the names of compressed files end with.
const packed = ".gz"

// unpacked are files of which some are compressed. It decompresses a file while
// it is read, so that a large script is never in memory as a whole.
type unpacked struct{ fs.FS }

func (u unpacked) Open(name string) (fs.File, error) {
	plain, missing := u.FS.Open(name)
	if !errors.Is(missing, fs.ErrNotExist) {
		return plain, missing
	}
	file, err := u.FS.Open(name + packed)
	if err != nil {
		return nil, missing
	}
	opened, err := unpack(file)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("decompress %s: %w", name, err), file.Close())
	}
	return opened, nil
}

// unpack decompresses an embedded file.
func unpack(file fs.File) (fs.File, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	at, ok := file.(io.ReaderAt)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	// The last four bytes are the size of what was compressed.
	var size [4]byte
	if _, err := at.ReadAt(size[:], info.Size()-int64(len(size))); err != nil {
		return nil, err
	}
	content, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	return &unpackedFile{
		File: file, content: content,
		info: unpackedInfo{FileInfo: info, size: int64(binary.LittleEndian.Uint32(size[:]))},
	}, nil
}

type unpackedFile struct {
	fs.File
	content *gzip.Reader
	info    unpackedInfo
}

func (f *unpackedFile) Read(p []byte) (int, error) { return f.content.Read(p) }
func (f *unpackedFile) Stat() (fs.FileInfo, error) { return f.info, nil }

type unpackedInfo struct {
	fs.FileInfo
	size int64
}

func (i unpackedInfo) Name() string { return i.FileInfo.Name()[:len(i.FileInfo.Name())-len(packed)] }
func (i unpackedInfo) Size() int64  { return i.size }
