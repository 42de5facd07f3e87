package storage

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
)

// pages reads the pages of a database file and of its write-ahead log without
// SQLite, which gives up at the first damaged page of a tree. The checksums of
// the rows verify what it reads. The forms are those of
// https://sqlite.org/fileformat2.html.
type pages struct {
	file, log io.ReaderAt
	size      int   // of a page
	usable    int   // bytes of it, without what is reserved at its end
	count     int64 // of pages, numbered from 1
	// logged are the places in the log of pages that are newer there.
	logged map[int64]int64
	// stray are those in the rest of a log that is damaged in the middle.
	stray map[int64]int64
	// free are pages that hold nothing, but still have what was deleted.
	free map[int64]bool
	// headless says that the first page or the list of free pages is damaged, so that not all of them
	// are known.
	headless bool
}

const (
	usualPage   = 4096
	magic       = "SQLite format 3\x00"
	logHeader   = 32
	frameHeader = 24
)

// openPages opens a database file and the log beside it. close closes both.
func openPages(path string) (p *pages, close func() error, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	p = &pages{file: file, size: usualPage, usable: usualPage, logged: map[int64]int64{}, stray: map[int64]int64{}, free: map[int64]bool{}}
	close = file.Close
	log, err := os.Open(path + "-wal")
	if err == nil {
		close = func() error { return errors.Join(file.Close(), log.Close()) }
		p.log = log
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, errors.Join(err, file.Close())
	}
	head := make([]byte, 100)
	if _, err := file.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, errors.Join(err, close())
	}
	p.readHeader(head)
	p.count = (info.Size() + int64(p.size) - 1) / int64(p.size)
	if p.log != nil {
		if err := p.readLog(); err != nil {
			return nil, nil, errors.Join(err, close())
		}
	}
	if first, err := p.page(1); err == nil {
		p.readHeader(first[:100])
	}
	p.findFree()
	return p, close, nil
}

// readHeader takes the sizes from the header of the first page. A damaged one has
// the sizes that every database of ours has.
func (p *pages) readHeader(head []byte) {
	size := int(binary.BigEndian.Uint16(head[16:]))
	if size == 1 {
		size = 1 << 16
	}
	p.headless = string(head[:16]) != magic || size < 512 || size&(size-1) != 0 || size-int(head[20]) < 480
	if !p.headless {
		p.size, p.usable = size, size-int(head[20])
	}
}

// readLog finds the newest committed version of each page in the log.
func (p *pages) readLog() error {
	head := make([]byte, logHeader)
	if _, err := p.log.ReadAt(head, 0); err != nil {
		return nil // an empty log has nothing
	}
	magic := binary.BigEndian.Uint32(head)
	if magic&^1 != 0x377f0682 || int(binary.BigEndian.Uint32(head[8:])) != p.size {
		return nil
	}
	var order binary.ByteOrder = binary.LittleEndian
	if magic&1 == 1 {
		order = binary.BigEndian
	}
	sum := frameSum(order, [2]uint32{}, head[:24])
	frame := make([]byte, frameHeader+p.size)
	pending, broken := map[int64]int64{}, false
	for at := int64(logHeader); ; at += int64(len(frame)) {
		if n, err := p.log.ReadAt(frame, at); n < len(frame) {
			if err != nil && !errors.Is(err, io.EOF) {
				return err
			}
			break
		}
		if !bytes.Equal(frame[8:16], head[16:24]) { // the rest is of an earlier log
			break
		}
		sum = frameSum(order, frameSum(order, sum, frame[:8]), frame[frameHeader:])
		broken = broken || sum != [2]uint32{binary.BigEndian.Uint32(frame[16:]), binary.BigEndian.Uint32(frame[20:])}
		pending[int64(binary.BigEndian.Uint32(frame))] = at + frameHeader
		if commits := binary.BigEndian.Uint32(frame[4:]) != 0; !commits {
			continue
		}
		into := p.logged
		if broken {
			into = p.stray
		}
		for page, place := range pending {
			into[page], p.count = place, max(p.count, page)
		}
		clear(pending)
	}
	return nil
}

// frameSum continues the checksum of a log.
func frameSum(order binary.ByteOrder, sum [2]uint32, data []byte) [2]uint32 {
	for ; len(data) >= 8; data = data[8:] {
		sum[0] += order.Uint32(data) + sum[1]
		sum[1] += order.Uint32(data[4:]) + sum[0]
	}
	return sum
}

// page reads a page as far as the file has it.
func (p *pages) page(number int64) ([]byte, error) {
	if place, ok := p.logged[number]; ok {
		return p.read(p.log, place)
	}
	if number < 1 || number > p.count {
		return nil, io.ErrUnexpectedEOF
	}
	return p.read(p.file, (number-1)*int64(p.size))
}

func (p *pages) read(from io.ReaderAt, at int64) ([]byte, error) {
	page := make([]byte, p.size)
	if n, err := from.ReadAt(page, at); err != nil && (n == 0 || !errors.Is(err, io.EOF)) {
		return nil, err
	}
	return page, nil
}

// findFree follows the list of free pages.
func (p *pages) findFree() {
	first, err := p.page(1)
	if err != nil || p.headless {
		p.headless = true
		return
	}
	for trunk := int64(binary.BigEndian.Uint32(first[32:])); trunk != 0 && !p.free[trunk]; {
		page, err := p.page(trunk)
		if err != nil {
			break
		}
		p.free[trunk] = true
		leaves := min(int(binary.BigEndian.Uint32(page[4:])), p.usable/4-2)
		for i := range leaves {
			p.free[int64(binary.BigEndian.Uint32(page[8+4*i:]))] = true
		}
		trunk = int64(binary.BigEndian.Uint32(page))
	}
	p.headless = len(p.free) != int(binary.BigEndian.Uint32(first[36:])) // a page of the list is damaged
}

// row is a row of a table, or of an index, which is also the form of tables without
// row ids.
type row struct {
	table  bool
	id     int64 // of a row of a table
	values []any
}

// rows calls do with every row that can be read. It goes on after a damaged page.
// Rows from the rest of a damaged log come last, because that part may be
// incomplete.
func (p *pages) rows(ctx context.Context, do func(row) error) error {
	for number := int64(1); number <= p.count; number++ {
		if err := p.rowsOf(ctx, number, do); err != nil {
			return err
		}
	}
	maps.Copy(p.logged, p.stray)
	for _, number := range slices.Sorted(maps.Keys(p.stray)) {
		if err := p.rowsOf(ctx, number, do); err != nil {
			return err
		}
	}
	return nil
}

// rowsOf calls do with the rows of one page.
func (p *pages) rowsOf(ctx context.Context, number int64, do func(row) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	page, err := p.page(number)
	if err != nil || p.free[number] {
		return nil
	}
	if number == 1 {
		return p.cells(page, 100, do)
	}
	return p.cells(page, 0, do)
}
