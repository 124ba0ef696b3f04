-- Ends a lease that the caller still has. KEYS: the lease. ARGV: the caller's token, the text of a failure or "", and
-- for how long that is kept for callers that wait, in ms.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '' then
  redis.call('DEL', KEYS[1])
else
  redis.call('SET', KEYS[1], '!' .. ARGV[1] .. ARGV[2], 'PX', ARGV[3])
end
return 1
