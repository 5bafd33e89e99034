UPDATE asks SET attempt = asker || ' ' || key WHERE attempt = ''
