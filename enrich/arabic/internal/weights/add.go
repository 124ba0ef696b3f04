package weights

// The sums of a few classes fit into registers. These functions are one loop, written out for each number of classes in
// use: most of the time of an enrichment is spent here.

func (m *Linear) add2(sums *Sums, features []uint32) {
	var a, b int32
	for _, x := range features {
		at := int(x&m.mask) * 2
		row := m.rows[at : at+2]
		a += int32(int8(row[0]))
		b += int32(int8(row[1]))
	}
	sums[0] += a
	sums[1] += b
}

func (m *Linear) add3(sums *Sums, features []uint32) {
	var a, b, c int32
	for _, x := range features {
		at := int(x&m.mask) * 3
		row := m.rows[at : at+3]
		a += int32(int8(row[0]))
		b += int32(int8(row[1]))
		c += int32(int8(row[2]))
	}
	sums[0] += a
	sums[1] += b
	sums[2] += c
}

func (m *Linear) add5(sums *Sums, features []uint32) {
	var a, b, c, d, e int32
	for _, x := range features {
		at := int(x&m.mask) * 5
		row := m.rows[at : at+5]
		a += int32(int8(row[0]))
		b += int32(int8(row[1]))
		c += int32(int8(row[2]))
		d += int32(int8(row[3]))
		e += int32(int8(row[4]))
	}
	sums[0] += a
	sums[1] += b
	sums[2] += c
	sums[3] += d
	sums[4] += e
}

func (m *Linear) add8(sums *Sums, features []uint32) {
	var a, b, c, d, e, f, g, h int32
	for _, x := range features {
		at := int(x&m.mask) * 8
		row := m.rows[at : at+8]
		a += int32(int8(row[0]))
		b += int32(int8(row[1]))
		c += int32(int8(row[2]))
		d += int32(int8(row[3]))
		e += int32(int8(row[4]))
		f += int32(int8(row[5]))
		g += int32(int8(row[6]))
		h += int32(int8(row[7]))
	}
	sums[0] += a
	sums[1] += b
	sums[2] += c
	sums[3] += d
	sums[4] += e
	sums[5] += f
	sums[6] += g
	sums[7] += h
}

func (m *Linear) add9(sums *Sums, features []uint32) {
	var a, b, c, d, e, f, g, h, i int32
	for _, x := range features {
		at := int(x&m.mask) * 9
		row := m.rows[at : at+9]
		a += int32(int8(row[0]))
		b += int32(int8(row[1]))
		c += int32(int8(row[2]))
		d += int32(int8(row[3]))
		e += int32(int8(row[4]))
		f += int32(int8(row[5]))
		g += int32(int8(row[6]))
		h += int32(int8(row[7]))
		i += int32(int8(row[8]))
	}
	sums[0] += a
	sums[1] += b
	sums[2] += c
	sums[3] += d
	sums[4] += e
	sums[5] += f
	sums[6] += g
	sums[7] += h
	sums[8] += i
}

func (m *Linear) addTagged(sums *Sums, features []uint32) {
	k, n := m.Classes, m.tagged
	for _, f := range features {
		i, tag := Place(f, n)
		row := m.rows[i*k : i*k+k]
		if row[0] != tag {
			continue
		}
		for c := range len(row) - 1 {
			sums[c] += int32(int8(row[c+1]))
		}
	}
}
