package storage

import (
	"context"
	"errors"
	"io/fs"
	"os"
)

// LogSizes returns how many bytes the logs of sessions take, without what the database
// adds. A session that does not exist takes none.
func (s *Store) LogSizes(ctx context.Context, sessions ...string) (map[string]int64, error) {
	sizes := make(map[string]int64, len(sessions))
	for _, session := range sessions {
		var size int64
		if err := s.read.QueryRowContext(ctx, s.query["select-log-size"], session).Scan(&size); err != nil {
			return nil, s.failed("measure a log", err)
		}
		large, err := os.ReadDir(s.blobDir(session))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, s.failed("measure a log", err)
		}
		for _, entry := range large {
			info, err := entry.Info()
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, s.failed("measure a log", err)
			}
			if err == nil { // it was not removed meanwhile
				size += info.Size()
			}
		}
		sizes[session] = size
	}
	return sizes, nil
}
