-- Returns what a caller who wants an entry is to do.
--   {"entry", text}    it is there
--   {"failure", words} whoever the caller has waited for has failed
--   {"wait", holder}   somebody makes it
--   {"turn", ""}       the caller is to make it, and holds the lease now
-- KEYS: the entry, the lease. ARGV: the caller's token, how long the lease is in ms, the holder waited for or "", the
-- SHA-1 in hex of an entry that is past its time or "": that one is none.
-- A lease is the token of its holder, or "!", that token and the words of its failure.
local entry = redis.call('GET', KEYS[1])
if entry and (ARGV[4] == '' or redis.sha1hex(entry) ~= ARGV[4]) then return {'entry', entry} end
local lease = redis.call('GET', KEYS[2])
if lease then
  if string.sub(lease, 1, 1) ~= '!' then return {'wait', lease} end
  local told = '!' .. ARGV[3]
  if ARGV[3] ~= '' and string.sub(lease, 1, #told) == told then
    return {'failure', string.sub(lease, #told + 1)}
  end
end
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
return {'turn', ''}
