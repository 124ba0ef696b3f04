package bulk

import (
	"encoding/json"

	"github.com/klauspost/compress/zstd"

	"github.com/socialdata/socialdata/bulkjob"
)

// codec compresses the lines and results of a chunk. It is safe for concurrent use.
type codec struct {
	encoder *zstd.Encoder
	decoder *zstd.Decoder
}

func newCodec() (*codec, error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(2), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return nil, err
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2))
	return &codec{encoder, decoder}, err
}

func pack[T bulkjob.Line | bulkjob.Result](c *codec, all []T) ([]byte, error) {
	plain, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	return c.encoder.EncodeAll(plain, nil), nil
}

func unpack[T bulkjob.Line | bulkjob.Result](c *codec, packed []byte) (all []T, err error) {
	plain, err := c.decoder.DecodeAll(packed, nil)
	if err == nil {
		err = json.Unmarshal(plain, &all)
	}
	return all, err
}
